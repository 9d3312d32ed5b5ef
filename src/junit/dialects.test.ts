import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createJunitParser } from './create-junit-parser.ts';
import type { JunitCase, JunitSummary } from './junit-case.ts';

const FOLDER = new URL('../../test/fixtures/junit/', import.meta.url);
const REPORTS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.xml'))
  .map((name) => name.slice(0, -'.xml'.length));

describe('reports of test frameworks [J1]', () => {
  it('are at least twenty', () => assert.ok(REPORTS.length >= 20));

  for (const report of REPORTS) {
    it(`${report} is read as its expected text says`, () => {
      const expected = readFileSync(new URL(`${report}.expected.txt`, FOLDER), 'utf8');
      assert.equal(describeReport(readFileSync(new URL(`${report}.xml`, FOLDER), 'utf8')), expected);
    });
  }
});

function describeReport(xml: string): string {
  const parser = createJunitParser();
  const first = parser.write(xml);
  const { cases, summary } = parser.end();
  return `${[...first, ...cases].map(describeCase).join('\n')}\n\n${describeSummary(summary)}`;
}

function describeCase(test: JunitCase): string {
  const said = test.outcome === null ? [] : [`  ${test.outcome.kind} ${quote(test.outcome)}`];
  const reruns = test.reruns.map(
    (rerun) => `  ${rerun.kind} ${quote(rerun)} ${rerun.durationMs} ms at ${instant(rerun.timestampAt)}`,
  );
  const facts = [
    `line ${test.line}: ${test.status} ${JSON.stringify(test.name)}`,
    `  in ${JSON.stringify(test.suites)}, class ${test.classname}, file ${test.file}, id ${test.id}`,
    `  ${test.durationMs} ms at ${instant(test.timestampAt)} (${test.timestampFrom})`,
    ...(test.attempt === null ? [] : [`  ${test.attempt.name} ${test.attempt.value}`]),
  ];
  return [...facts, ...said, ...reruns].join('\n');
}

function describeSummary(summary: JunitSummary): string {
  const { issues, ...facts } = summary;
  const lines = issues.map(({ level, line, message }) => `${level}, line ${line}: ${message}`);
  return `${[JSON.stringify(facts), ...lines].join('\n')}\n`;
}

function quote({ type, message, text }: { type: string | null; message: string | null; text: string }): string {
  return JSON.stringify([type, message, text]);
}

function instant(at: number | null): string {
  return at === null ? 'no time' : new Date(at).toISOString();
}
