import { linkTicketToTestCase as link } from '../../app/tests/link-ticket-to-test-case.ts';
import { linkTicketToTestCase } from '../../contract/test-acts.ts';
import { route } from '../core/route.ts';

export const linkTicketToTestCaseRoute = route(linkTicketToTestCase, ({ app, caller, baseUrl }, body) =>
  link(app, caller, {
    repo: body.repo,
    orgUrlSlug: caller.organization.slug,
    testId: body.test_case_id,
    ticket: body.external_ticket_id,
    baseUrl,
  }),
);
