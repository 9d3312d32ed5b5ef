import { printFigure, progress } from './lib/figure.ts';
import { packedLargeReport } from './lib/large-report.ts';
import { createTestsWorld } from './lib/tests-world.ts';

const REPORT_MB = 500;
const MEMORY_GOAL = 200e6;

/** The memory of a server above its idle level, from the first byte of a large report until it is queryable. */
export async function measureMemory(): Promise<void> {
  progress(`flaky memory: a report of ${REPORT_MB} MB`);
  const body = await packedLargeReport(REPORT_MB * 1e6);
  const world = createTestsWorld();
  try {
    const server = await world.start();
    try {
      const idle = server.child.memory().now;
      await server.upload({ sha: 'c'.repeat(40), branch: 'main', job: 'unit', body });
      await server.untilProcessed();
      const value = server.child.memory().peak - idle;
      printFigure({ name: `flaky.memory.${REPORT_MB}_mb`, value, unit: 'bytes', goal: MEMORY_GOAL });
    } finally {
      await server.child.stop();
    }
  } finally {
    world.remove();
  }
}
