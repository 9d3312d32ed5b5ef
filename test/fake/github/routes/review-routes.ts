import type { Ask, Route } from '../exchange.ts';
import type { PullRequest, Review, User } from '../model.ts';
import { invalid, notFound, Refused } from '../refused.ts';
import { addReview, dismissReview, requestReview, withdrawRequest } from '../reviews.ts';
import { pullRequestView, reviewView } from '../views/pull-request-view.ts';
import { userView } from '../views/user-view.ts';
import { hasRole } from '../world.ts';
import { OPEN, pullOf } from './pull-routes.ts';
import {
  actorOf,
  bodyOf,
  choiceOf,
  created,
  listed,
  need,
  numberOf,
  ok,
  type Params,
  requiredText,
  textOf,
} from './tools.ts';

const WRITE = need('pull_requests', 'write');
const PULL = '/repos/{owner}/{repo}/pulls/{pull_number}';

export const reviewRoutes: readonly Route[] = [
  { method: 'GET', path: `${PULL}/reviews`, handle: listReviews },
  { method: 'POST', path: `${PULL}/reviews`, handle: createReview },
  { method: 'GET', path: `${PULL}/reviews/{review_id}`, handle: getReview },
  { method: 'PUT', path: `${PULL}/reviews/{review_id}/dismissals`, handle: dismiss },
  { method: 'GET', path: `${PULL}/requested_reviewers`, handle: listRequested },
  { method: 'POST', path: `${PULL}/requested_reviewers`, handle: request },
  { method: 'DELETE', path: `${PULL}/requested_reviewers`, handle: withdraw },
];

function listReviews(ask: Ask, params: Params) {
  const pr = pullOf(ask, params);
  return listed(ask, pr.reviews, (review) => reviewView(ask.world, pr, review));
}

const EVENTS = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const;

function createReview(ask: Ask, params: Params) {
  const pr = pullOf(ask, params, OPEN);
  const body = bodyOf(ask);
  const event = choiceOf(body, 'event', ['APPROVE', 'REQUEST_CHANGES', 'COMMENT']);
  if (event === undefined) throw new Refused(501, 'The fake GitHub has no pending reviews: name an event');
  const text = textOf(body, 'body') ?? '';
  const author = actorOf(ask);
  if (author === pr.author && event !== 'COMMENT')
    throw new Refused(422, 'Unprocessable Entity', [
      `Can not ${event === 'APPROVE' ? 'approve' : 'request changes on'} your own pull request`,
    ]);
  if (event !== 'APPROVE' && text === '') throw new Refused(422, 'Unprocessable Entity', ['Body cannot be blank']);
  return ok(reviewView(ask.world, pr, addReview(ask.world, pr, author, { state: EVENTS[event], body: text })));
}

function reviewOf(pr: PullRequest, params: Params): Review {
  const review = pr.reviews.find(({ id }) => id === numberOf(params, 'review_id'));
  if (review === undefined) throw notFound();
  return review;
}

function getReview(ask: Ask, params: Params) {
  const pr = pullOf(ask, params);
  return ok(reviewView(ask.world, pr, reviewOf(pr, params)));
}

function dismiss(ask: Ask, params: Params) {
  const pr = pullOf(ask, params, WRITE);
  const review = reviewOf(pr, params);
  requiredText(bodyOf(ask), 'message');
  if (review.state !== 'APPROVED' && review.state !== 'CHANGES_REQUESTED')
    throw new Refused(422, 'Unprocessable Entity', ['Can not dismiss a commented pull request review']);
  dismissReview(ask.world, pr, actorOf(ask), review);
  return ok(reviewView(ask.world, pr, review));
}

function listRequested(ask: Ask, params: Params) {
  const users = pullOf(ask, params).requestedReviewers.map((user) => userView(ask.world, user));
  return ok({ users, teams: [] });
}

function request(ask: Ask, params: Params) {
  const pr = pullOf(ask, params, WRITE);
  const users = reviewersOf(ask, pr);
  for (const user of users) requestReview(ask.world, pr, user);
  return created(pullRequestView(ask.world, pr));
}

function withdraw(ask: Ask, params: Params) {
  const pr = pullOf(ask, params, WRITE);
  for (const user of reviewersOf(ask, pr)) withdrawRequest(ask.world, pr, user);
  return ok(pullRequestView(ask.world, pr));
}

function reviewersOf(ask: Ask, pr: PullRequest): readonly User[] {
  const { reviewers = [], team_reviewers: teams = [] } = bodyOf(ask);
  if (Array.isArray(teams) && teams.length > 0) throw new Refused(501, 'The fake GitHub has no teams');
  const users = (reviewers as readonly string[]).map((login) => ask.world.users.get(login.toLowerCase()));
  if (users.includes(pr.author)) throw new Refused(422, 'Review cannot be requested from pull request author.');
  return users.map((user) => {
    if (user !== undefined && hasRole(pr.repository, user, 'read')) return user;
    throw invalid('Reviews may only be requested from collaborators.');
  });
}
