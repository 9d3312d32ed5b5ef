import { findTicketUrl } from '../../flaky/settings.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import { type ActedTest, type ChangeTest, changeTest, type FoundTest } from './change-test.ts';
import type { TestDetailsView } from './test-details-view.ts';

export interface LinkTicket extends ChangeTest {
  /** An address or a key; null removes the link. */
  readonly ticket: string | null;
}

export function linkTicketToTestCase(
  app: App,
  caller: Caller,
  input: LinkTicket,
): Promise<{ readonly test: TestDetailsView } | Refusal> {
  return changeTest(app, caller, input, (found) => apply(found, input.ticket, caller.name));
}

function apply({ test, state, settings, at }: FoundTest, ticket: string | null, actor: string): ActedTest | Refusal {
  const { ticketUrlTemplate } = settings.settings;
  const url = ticket === null ? null : findTicketUrl(ticket, ticketUrlTemplate);
  if (url === undefined) return badTicket(ticketUrlTemplate !== null);
  const { ticketUrl: previousUrl } = test;
  if (url === previousUrl) return { test, state, events: [] };
  const event =
    url === null
      ? { kind: 'ticket_unlinked', at, actor, previousUrl }
      : { kind: 'ticket_linked', at, actor, url, previousUrl };
  return { test: { ...test, ticketUrl: url }, state, events: [event] };
}

function badTicket(hasTemplate: boolean): Refusal {
  const message = hasTemplate
    ? 'must be an http or https address, or a key of at most 100 letters, digits and -._#/'
    : 'must be an http or https address: the repository has no ticket_url_template for keys';
  return refuse('VALIDATION_FAILED', `external_ticket_id ${message}.`, [{ path: '/external_ticket_id', message }]);
}
