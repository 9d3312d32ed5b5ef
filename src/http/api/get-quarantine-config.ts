import { getQuarantineConfig as getConfig } from '../../app/tests/get-quarantine-config.ts';
import { getQuarantineConfig } from '../../contract/uploader.ts';
import { route } from '../core/route.ts';

export const getQuarantineConfigRoute = route(getQuarantineConfig, ({ app, caller }, body) =>
  getConfig(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.orgUrlSlug,
    tests: body.testIdentifiers.map(({ id, name, parentName, className, file, variant, suitePaths }) => ({
      id,
      name,
      parentName: parentName ?? '',
      className: className ?? null,
      file: file ?? null,
      variant: variant ?? null,
      suitePaths: suitePaths ?? null,
    })),
  }),
);
