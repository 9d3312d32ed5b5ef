// Stands for ssh: proves the key to the fake GitLab, and runs the service that GitLab would.
import { execFileSync, spawn } from 'node:child_process';

const args = process.argv.slice(2);
const command = args.at(-1) ?? '';
const key = args[args.lastIndexOf('-i') + 1] ?? '';
const ask = async (path, body) => {
  const answer = await fetch(`${process.env.FAKE_GITLAB}${path}`, { method: 'POST', body: JSON.stringify(body) });
  return answer.json();
};
const fail = (text) => {
  process.stderr.write(`${text}\n`);
  process.exit(255);
};

const own = execFileSync('ssh-keygen', ['-y', '-P', '', '-f', key]).toString().split(' ').slice(0, 2).join(' ').trim();
const session = await ask('/fake/ssh', { key: own, command });
if (session.denied !== undefined) fail(session.denied);
if (session.error !== undefined) fail(`remote: \nremote: ERROR: ${session.error}\nremote: `);
const child = spawn('git', [session.service.replace('git-', ''), session.gitDir], {
  env: { ...process.env, ...session.env, GIT_DIR: undefined },
  stdio: 'inherit',
});
child.on('close', async (code) => {
  await ask('/fake/ssh/end', { project: session.project, user: session.user });
  process.exit(code ?? 1);
});
