import type { Authenticator } from '../../../src/app/access/authenticate.ts';
import type { App, WebhookAccess } from '../../../src/app/core/app.ts';
import { Backups } from '../../../src/app/core/backups.ts';
import { Directory } from '../../../src/app/core/directory.ts';
import { Feed } from '../../../src/app/core/feed.ts';
import { Outages } from '../../../src/app/core/outages.ts';
import { QueueHost } from '../../../src/app/core/queue-host.ts';
import { WakeSignal } from '../../../src/app/core/wake-signal.ts';
import { Forecaster } from '../../../src/app/forecast/forecaster.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createSecretBox } from '../../../src/outgoing/http/secret-box.ts';
import { createWebhookSender } from '../../../src/outgoing/http/send-webhook.ts';
import { createPersonalSender } from '../../../src/outgoing/people/send-to-people.ts';
import { noIngest } from '../../fake/no-ingest.ts';
import { noJobs } from '../../fake/no-jobs.ts';
import { localLanes } from '../../helpers/local-lanes.ts';
import { localSimulator } from '../../helpers/local-simulator.ts';
import { silentLog } from '../../helpers/silent-log.ts';

/** Reaches receivers on this machine. */
export function testWebhooks(): WebhookAccess {
  const sender = createWebhookSender({ networks: ['127.0.0.0/8'], userAgent: 'Sluice/test' });
  const box = createSecretBox(new Uint8Array(32));
  const people = createPersonalSender({ smtpUrl: undefined, mailFrom: undefined, slackToken: undefined });
  return { signal: new WakeSignal(), box, sender, people, attempts: { delivered: 0, failed: 0 } };
}

/** A server without ingest, check runner and tokens, unless they are given. */
export function createTestApp(parts: Partial<App> & Pick<App, 'store' | 'forges'>): App {
  const { store, forges, clock = systemClock } = parts;
  return {
    clock,
    queues: new QueueHost(store, clock),
    directory: new Directory(store, forges, clock),
    outages: new Outages(),
    hints: new WakeSignal(),
    feed: new Feed({ store, clock, log: silentLog }),
    webhooks: testWebhooks(),
    log: silentLog,
    ingest: noIngest,
    checkRunner: noJobs,
    backups: new Backups({ folder: '', isChosen: false }),
    simulator: localSimulator,
    lanes: localLanes,
    forecasts: new Forecaster({ store, simulator: localSimulator, clock, log: silentLog }),
    admin: { slug: 'acme', adminToken: undefined, tokenFile: '' },
    // Callers bring their own permissions.
    auth: undefined as unknown as Authenticator,
    ...parts,
  };
}
