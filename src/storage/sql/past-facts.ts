import { sql } from 'kysely';
import type { Instant } from '../../lib/clock.ts';
import { FOREVER, type NewFact, OUTAGE_FACT } from '../past.ts';
import { fromPastFact } from './rows.ts';
import { type Call, callOf, type StatementCompiler } from './statement.ts';

export type FactStatements = ReturnType<typeof factStatements>;

export function factStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    beginFacts: compiler.upsert('past_facts', ['subject', 'key', 'from_at']),
    endFact: compiler.statement<{ subject: string; key: string; at: number }>()((param) =>
      builder
        .updateTable('past_facts')
        .set({ until_at: param('at') })
        .where('subject', '=', param('subject'))
        .where('key', '=', param('key'))
        .where('until_at', '=', sql.lit(FOREVER)),
    ),
    findLastFact: compiler.statement<{ subject: string; key: string }>()((param) =>
      builder
        .selectFrom('past_facts')
        .select('until_at')
        .where('subject', '=', param('subject'))
        .where('key', '=', param('key'))
        .orderBy('from_at', 'desc')
        .limit(1),
    ),
    listFacts: compiler.list<{ at: number }, string>()((param, subjects) =>
      builder
        .selectFrom('past_facts')
        .selectAll()
        .where('subject', 'in', subjects)
        .where('until_at', '>', param('at'))
        .where('from_at', '<=', param('at')),
    ),
    endOutages: compiler.statement<{ at: number; key: string; before: number }>()((param) =>
      builder
        .updateTable('past_facts')
        .set({ until_at: param('at') })
        .where('until_at', '=', sql.lit(FOREVER))
        .where('key', 'like', `${OUTAGE_FACT}%`)
        .where(({ eb, or }) => or([eb('key', '=', param('key')), eb('from_at', '<', param('before'))])),
    ),
    expireFacts: compiler.statement<{ before: number; limit: number }>()((param) => {
      const old = builder
        .selectFrom('past_facts')
        .select(['subject', 'key', 'from_at'])
        .where('until_at', '<', param('before'))
        .orderBy('until_at')
        .limit(param('limit'));
      return builder.deleteFrom('past_facts').where(sql<boolean>`(subject, key, from_at) in ${old}`);
    }),
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
