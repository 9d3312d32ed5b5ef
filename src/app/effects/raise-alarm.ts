import type { RaiseAlarm } from '../../engine/effect.ts';
import { DONE, type EffectAnswer, type EffectRun } from './effect-run.ts';

export async function raiseAlarm({ app, found }: EffectRun, { code, text }: RaiseAlarm): Promise<EffectAnswer> {
  app.log.error({ alarm: code, queue: found.id, branch: found.queue.branch }, text);
  return DONE;
}
