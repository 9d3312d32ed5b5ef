import { createOrganization as create } from '../../app/access/create-organization.ts';
import { createOrganization } from '../../contract/access.ts';
import { route } from '../core/route.ts';

export const createOrganizationRoute = route(createOrganization, ({ app, caller }, { slug }) =>
  create(app, caller, { slug }),
);
