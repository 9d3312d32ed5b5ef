import { listUploads as list } from '../../app/uploads/list-uploads.ts';
import { listUploads } from '../../contract/uploads.ts';
import { pageQuery } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const listUploadsRoute = route(listUploads, ({ app, caller }, body) =>
  list(app, caller, { repo: body.repo, orgUrlSlug: body.org_url_slug, page: pageQuery(body.page_query) }),
);
