import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { listPage, type PageQuery, type PageView } from '../core/list-page.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { findTest, type TestRef } from './find-test.ts';
import { type TestEventView, viewTestEvent } from './test-event-view.ts';
import { getTestSettings } from './test-settings.ts';

export interface ListTestEvents extends TestRef {
  readonly page: PageQuery;
}

export async function listTestEvents(
  app: App,
  caller: Caller,
  input: ListTestEvents,
): Promise<{ readonly events: readonly TestEventView[]; readonly page: PageView } | Refusal> {
  const found = await findTest(app, caller, input);
  if (isRefusal(found)) return found;
  const { repository, test } = found;
  const read = await listPage(app, { repository, asked: ['events', test.id], page: input.page }, (query) =>
    app.store.tests.listEvents({ ...query, testId: test.id }),
  );
  if (isRefusal(read)) return read;
  const { monitors } = await getTestSettings(app, repository);
  const names = new Map(monitors.map(({ id, name }) => [id, name]));
  return { events: read.list.events.map((event) => viewTestEvent(event, names)), page: read.page };
}
