import { listMonitors } from '../../contract/monitors.ts';
import type { Context } from '../core/context.ts';
import { CliError, EXIT } from '../core/exit.ts';
import type { TestScope } from './scope.ts';

export const MONITOR_TEXT = 'The id of the monitor, or its name, or its type where only one has it.';

const UUID = /^[0-9a-f-]{32,36}$/i;

export async function findMonitorId(context: Context, scope: TestScope, words: string): Promise<string> {
  if (UUID.test(words)) return words;
  const { monitors } = await context.call(listMonitors, scope);
  const wanted = words.toLowerCase();
  const byName = monitors.filter(({ name }) => name.toLowerCase() === wanted);
  const byType = monitors.filter(({ type }) => type === wanted.replaceAll(/[- ]/g, '_'));
  const [first, ...others] = byName.length > 0 ? byName : byType;
  if (first !== undefined && others.length === 0) return first.id;
  const known = monitors.map(({ id, name, type }) => `  ${id}  ${name} (${type})`).join('\n');
  const trouble = first === undefined ? `No monitor is called "${words}".` : `Several monitors are called "${words}".`;
  throw new CliError(EXIT.refused, monitors.length === 0 ? trouble : `${trouble} There are:\n${known}`);
}
