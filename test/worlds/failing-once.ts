import { DEFAULT_SETTINGS, type QueueSettings } from '../../src/engine/model/settings.ts';

/** The settings of worlds in which one failure decides: confirmed failures have stories of their own. */
export const FAILING_ONCE: QueueSettings = { ...DEFAULT_SETTINGS, confirmFailures: 'NEVER' };
