import { getTestSettings as get } from '../../app/tests/get-test-settings.ts';
import { getTestSettings } from '../../contract/test-settings.ts';
import { route } from '../core/route.ts';

export const getTestSettingsRoute = route(getTestSettings, ({ app, caller }, body) =>
  get(app, caller, { repo: body.repo, orgUrlSlug: body.org_url_slug }),
);
