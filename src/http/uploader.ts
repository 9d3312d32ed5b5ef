import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { isRefusal } from '../app/core/refusal.ts';
import { acceptBundle, findBundlePlace } from '../app/uploads/bundle-uploads.ts';
import { type UploadBodies, writeFile } from '../app/uploads/upload-body.ts';
import { createBundleUpload } from '../contract/uploader.ts';
import type { createAdmission } from './core/admission.ts';
import { sluiceDialect, trunkDialect } from './core/dialect.ts';
import { arriving, type IncomingUpload } from './core/incoming-upload.ts';
import { HttpProblem } from './core/problem.ts';
import type { ServerDeps } from './core/server-deps.ts';
import { logRequest } from './request-log.ts';

export interface UploaderDeps extends ServerDeps {
  readonly admission: ReturnType<typeof createAdmission>;
  readonly bodies: UploadBodies;
}

/** The endpoints that existing uploaders call besides operations. They read only the status of the answers. */
// SPEC A19, U19
export function registerUploader(server: FastifyInstance, deps: UploaderDeps): void {
  const add = (method: HTTPMethods, url: string, handle: Handle, needsToken = false): void => {
    server.route({
      method,
      url,
      config: { readsBody: true },
      ...(needsToken ? { onRequest: deps.admission(createBundleUpload) } : {}),
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        await handle(deps, request);
        if (request.server.isStopping) reply.header('connection', 'close');
        logRequest(deps.log, request, 200);
        return {};
      },
    });
  };
  add('PUT', '/uploads/:id', putBundle);
  for (const { mount } of [sluiceDialect, trunkDialect]) {
    for (const path of TELEMETRY) add('POST', `${mount}${path}`, throwAway);
    // For clients of earlier years.
    add('PATCH', `${mount}/metrics/updateBundleUpload`, throwAway, true);
    add('POST', `${mount}/repo/create`, throwAway, true);
  }
}

/** Uploaders send telemetry. A slow or missing answer costs their users a minute. */
const TELEMETRY = ['/flakytests-cli/upload-metrics', '/flakytests-uploader/upload-metrics'];

type Handle = (deps: UploaderDeps, request: FastifyRequest) => Promise<void>;

export function toIncomingUpload({ bodies, requestTimeoutMs }: UploaderDeps, request: FastifyRequest): IncomingUpload {
  return { request: request.raw, query: request.query, bodies, timeoutMs: requestTimeoutMs };
}

/** Node discards the body after the answer. */
// SPEC U60
async function throwAway(): Promise<void> {}

async function putBundle(deps: UploaderDeps, request: FastifyRequest): Promise<void> {
  const { id } = request.params as { id: string };
  const { expires, signature } = request.query as Record<string, unknown>;
  const pass = { expiresAt: Number(expires), signature: typeof signature === 'string' ? signature : '' };
  const place = await findBundlePlace(deps.app, id, pass);
  if (isRefusal(place)) throw new HttpProblem(place.code, place.detail);
  if (place === 'again') return;
  const upload = toIncomingUpload(deps, request);
  const { body } = await deps.bodies.receive(async (writer) => {
    await writeFile(writer, 'bundle.tar.zstd', { encoding: undefined, bytes: arriving(upload) });
  });
  if (body.files.length === 0)
    throw new HttpProblem('VALIDATION_FAILED', 'The bundle is empty. Send it as the body.', []);
  let isKept = false;
  try {
    isKept = await acceptBundle(deps.app, id, body);
  } finally {
    if (!isKept) await deps.bodies.discard(body.bodyId);
  }
}
