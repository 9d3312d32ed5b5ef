import { App, Octokit } from 'octokit';
import type { FakeGithub } from './fake-github.ts';
import type { Installation } from './model.ts';

const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** GitHub's own client as an installation of the app, without retries. */
export function asInstallation(github: FakeGithub, { id }: Installation): Promise<Octokit> {
  return asTheApp(github).getInstallationOctokit(id);
}

/** GitHub's own client as the app itself. */
export function asTheApp(github: FakeGithub): App {
  return new App({
    appId: github.app.id,
    privateKey: github.privateKey,
    Octokit: Octokit.defaults({
      baseUrl: github.url,
      log: quiet,
      retry: { enabled: false },
      throttle: { enabled: false },
    }),
    log: quiet,
  });
}

/** GitHub's own client as a person. */
export function asPerson(github: FakeGithub, login: string): Octokit {
  return new Octokit({
    auth: github.createToken(login),
    baseUrl: github.url,
    log: quiet,
    retry: { enabled: false },
    throttle: { enabled: false },
  });
}

function ignore(): void {}
