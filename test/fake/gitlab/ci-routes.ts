import { findCommit } from '../hosted/git.ts';
import { type CallIn, created, inProject, notFound, ok, paged, Refused, type Routes, textOf } from './call.ts';
import type { Job, Pipeline } from './model.ts';
import { addPipeline, settlePipeline } from './pushes.ts';
import { jobView, pipelineView, statusView } from './views.ts';

/** Pipelines, jobs, and statuses of another CI. */
export const ciRoutes: Routes = {
  'GET /projects/{id}/pipelines': inProject('reporter', (call) => {
    const { world, project, query } = call;
    const [sha, source] = [query.get('sha'), query.get('source')];
    const found = project.pipelines
      .filter((each) => (sha === null || each.sha === sha) && (source === null || each.source === source))
      .toReversed();
    return paged(call, found, (each) => pipelineView(world, project, each));
  }),
  'GET /projects/{id}/pipelines/{pipeline}/jobs': inProject('reporter', (call) => {
    const pipeline = getPipeline(call);
    return paged(call, pipeline.jobs, (job) => jobView(call.world, call.project, pipeline, job));
  }),
  'POST /projects/{id}/pipelines/{pipeline}/cancel': inProject('developer', (call) => {
    const { world, project } = call;
    const pipeline = getPipeline(call);
    for (const job of pipeline.jobs) if (job.status === 'running') job.status = 'canceled';
    settlePipeline(world, project, pipeline);
    return ok(pipelineView(world, project, pipeline));
  }),
  'GET /projects/{id}/repository/commits/{sha}/statuses': inProject('reporter', (call) => {
    const { world, project, params } = call;
    const found = project.pipelines
      .filter(({ sha }) => sha === params['sha'])
      .flatMap((pipeline) => [...pipeline.jobs, ...pipeline.statuses].map((job) => ({ pipeline, job })));
    return paged(call, found, ({ pipeline, job }) => statusView(world, project, pipeline, job));
  }),
  'POST /projects/{id}/statuses/{sha}': inProject('developer', async (call) => {
    const { world, project, params, user, body } = call;
    const { sha = '' } = params;
    if ((await findCommit(project.gitDir, sha)) === undefined) throw notFound('Commit');
    const ref = textOf(body, 'ref') || branchOf(call, sha);
    const [name, status] = [textOf(body, 'name') || 'default', textOf(body, 'state')];
    if (!['pending', 'running', 'success', 'failed', 'canceled', 'skipped'].includes(status))
      throw new Refused(400, 'state does not have a valid value');
    const known = project.pipelines.findLast((each) => each.sha === sha && each.ref === ref);
    const pipeline = known ?? addPipeline(world, project, { user, ref, sha, status: 'created', source: 'external' });
    const former = pipeline.statuses.find((each) => each.name === name && each.user === user);
    const isEnded = status !== 'pending' && status !== 'running';
    const at = world.now();
    const description = textOf(body, 'description') || null;
    const job: Job = {
      ...{ id: world.nextId(), name, status, user, description, createdAt: at },
      finishedAt: isEnded ? at : undefined,
    };
    if (former !== undefined) pipeline.statuses.splice(pipeline.statuses.indexOf(former), 1);
    pipeline.statuses.push(job);
    settlePipeline(world, project, pipeline);
    return created(statusView(world, project, pipeline, job));
  }),
};

function getPipeline({ project, params }: CallIn): Pipeline {
  const pipeline = project.pipelines.find(({ id }) => id === Number(params['pipeline']));
  if (pipeline === undefined) throw notFound('Pipeline');
  return pipeline;
}

function branchOf({ project }: CallIn, sha: string): string {
  const ref = [...project.refs].find(([name, at]) => at === sha && name.startsWith('refs/heads/'))?.[0];
  if (ref === undefined) throw notFound('References for commit');
  return ref.slice('refs/heads/'.length);
}
