// `npm run check:deploy`: tries the files in deploy/ with the real tools. What a machine lacks is skipped with a sentence.
import { checkChart } from './chart.ts';
import { checkCompose } from './compose.ts';
import { checkContainer } from './container.ts';
import { checkMonitoring } from './prometheus.ts';
import { checkUnit } from './systemd.ts';
import { Skipped } from './tools.ts';

const CHECKS = {
  ...{ systemd: checkUnit, helm: checkChart, compose: checkCompose },
  ...{ prometheus: checkMonitoring, container: checkContainer },
};
const usage = `usage: npm run check:deploy [-- ${Object.keys(CHECKS).join(' | ')} ...]

  systemd    the unit: systemd-analyze verify, and its score
  helm       the chart: helm lint and template, and kubernetes-validate (PyPI) on what it renders
  compose    the compose file: docker compose config, or a program like it
  prometheus the monitoring: Prometheus on two servers that fail in turn; rules 20 times as fast, about six minutes
  container  builds the image with buildah, runs it on a read-only root without rights, kills it while it lands

SLUICE_BASE_IMAGE is the base of the image. Without it and without a registry, mmdebstrap makes one.
`;

const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in CHECKS));
if (unknown.length > 0) {
  process.stderr.write(usage);
  process.exit(unknown.includes('--help') ? 0 : 2);
}
for (const [name, check] of Object.entries(CHECKS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  try {
    process.stdout.write(`${name}: ok. ${await check()}\n`);
  } catch (error) {
    const isSkipped = error instanceof Skipped;
    process.stdout.write(`${name}: ${isSkipped ? 'skipped' : 'FAILED'}. ${(error as Error).message}\n`);
    if (!isSkipped) process.exitCode = 1;
  }
}
