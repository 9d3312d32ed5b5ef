import { listUploads as list } from '../../app/list-uploads.ts';
import { listUploads } from '../contract/uploads.ts';
import { pageQuery } from '../parse.ts';
import { route } from '../route.ts';

export const listUploadsRoute = route(listUploads, ({ app, caller }, body) =>
  list(app, caller, { repo: body.repo, orgUrlSlug: body.org_url_slug, page: pageQuery(body.page_query) }),
);
