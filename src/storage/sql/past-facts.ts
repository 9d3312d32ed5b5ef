import type { Instant } from '../../lib/clock.ts';
import { FOREVER, type NewFact, type OUTAGE_FACT } from '../past.ts';
import { fromPastFact } from './rows.ts';
import { type Call, callOf, type StatementCompiler } from './statement.ts';

export type FactStatements = ReturnType<typeof factStatements>;

const OUTAGE: `${typeof OUTAGE_FACT}%` = 'outage%';

export function factStatements(compiler: StatementCompiler) {
  const { sql, sqlOfMany } = compiler;
  return {
    beginFacts: compiler.upsert('past_facts', ['subject', 'key', 'from_at']),
    endFact: sql(`
      update past_facts set until_at = :at where subject = :subject and key = :key and until_at = ${FOREVER}`),
    findLastFact: sql(`
      select until_at from past_facts where subject = :subject and key = :key order by from_at desc limit 1`),
    listFacts: sqlOfMany('select * from past_facts where subject in (:items) and until_at > :at and from_at <= :at'),
    endOutages: sql(`
      update past_facts set until_at = :at
      where until_at = ${FOREVER} and key like '${OUTAGE}' and (key = :key or from_at < :before)`),
    expireFacts: sql(`
      delete from past_facts where (subject, key, from_at) in (
        select subject, key, from_at from past_facts where until_at < :before order by until_at limit :limit)`),
  };
}

export function endFacts(
  { endFact }: Pick<FactStatements, 'endFact'>,
  subject: string,
  { keys, at }: { readonly keys: readonly string[]; readonly at: Instant },
): Call[] {
  return keys.map((key) => callOf(endFact, { subject, key, at }));
}

export function beginFacts({ beginFacts: begin }: FactStatements, facts: readonly NewFact[], at: Instant): Call[] {
  return begin(facts.map((fact) => fromPastFact({ ...fact, fromAt: at, untilAt: FOREVER })));
}
