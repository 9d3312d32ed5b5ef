import type { EndAlarm, RaiseAlarm } from '../../engine/effect.ts';
import { holdAlarmText } from '../../words/queue.ts';
import { endAlarms, raise } from '../core/alarms.ts';
import { describeMove } from '../core/format-audit.ts';
import { DONE, type EffectAnswer, type EffectRun } from './effect-run.ts';

/** `id` is that of the effect: a repeated effect raises one alarm. */
export async function raiseAlarm(run: EffectRun, effect: RaiseAlarm, id: string): Promise<EffectAnswer> {
  const { app, found, forge, repository } = run;
  const { code, move, cause, text: said = '' } = effect;
  const why = cause === undefined ? said : holdAlarmText(found.queue, cause);
  const details = move === undefined ? undefined : await describeMove(forge, { repository, ...move });
  const text = details === undefined ? why : `${why} ${details}`;
  await raise(app, found, { id, code, text });
  return DONE;
}

export async function endAlarm({ app, found }: EffectRun, { code }: EndAlarm): Promise<EffectAnswer> {
  await endAlarms(app, found, code);
  return DONE;
}
