// A process that runs the command `sluice` again and again. Most of a short command is loading modules; here they are
// loaded once. Its parent is kept-sluice.ts.
import { Writable } from 'node:stream';
import { main } from '../../src/cli/main.ts';

let last = Promise.resolve();
process.on('message', (order) => {
  last = last.then(() => run(order)).then((result) => process.send({ id: order.id, ...result }));
});

/** As a process of its own would: its environment, folder, output and exit code are those of this command alone. */
async function run({ args, env, cwd }) {
  const out = collect();
  const err = collect();
  replace('stdout', out.stream);
  replace('stderr', err.stream);
  process.env = env;
  process.chdir(cwd);
  process.exitCode = undefined;
  const code = await main(args);
  return { code, out: out.read(), err: err.read() };
}

function replace(name, value) {
  Object.defineProperty(process, name, { value, configurable: true });
}

function collect() {
  const chunks = [];
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, read: () => Buffer.concat(chunks).toString() };
}
