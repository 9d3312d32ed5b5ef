import { createOrganization as create } from '../../app/create-organization.ts';
import { createOrganization } from '../contract/access.ts';
import { route } from '../route.ts';

export const createOrganizationRoute = route(createOrganization, ({ app, caller }, { slug }) =>
  create(app, caller, { slug }),
);
