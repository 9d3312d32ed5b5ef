import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { StreamConnection, type StreamEvent } from './stream-connection.ts';

/** A server whose streams the test writes, and a page that follows them. */
async function connect(t: TestContext) {
  const news = new EventEmitter();
  const events: string[] = [];
  const states: string[] = [];
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    news.emit('stream', response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const listener = {
    onEvent(event: StreamEvent) {
      events.push(`${event.type} ${event.id}`);
      news.emit('event');
    },
    onState(state: string) {
      states.push(state);
      news.emit(state);
    },
  };
  const connection = new StreamConnection('acme', listener, `http://127.0.0.1:${port}`);
  t.after(() => {
    connection.close();
    server.closeAllConnections();
    server.close();
  });
  const begin = async (): Promise<ServerResponse> => {
    const begun = Promise.all([once(news, 'stream'), once(news, 'live')]);
    if (states.length === 0) connection.open();
    else connection.retry();
    return (await begun)[0][0] as ServerResponse;
  };
  return { begin, news, events, states };
}

const eventOf = (id: number) => `id: ${id}\nevent: queue.view\ndata: {"id":"${id}"}\n\n`;

describe('the stream of a page', () => {
  it('passes on what repeats, jumps or is no event, and comes back after its end', async (t) => {
    const { begin, news, events, states } = await connect(t);
    const first = await begin();
    first.write(`${eventOf(7)}${eventOf(7)}event: odd\ndata: {no json\n\n${eventOf(900)}${eventOf(3)}`);
    while (events.length < 4) await once(news, 'event');
    const isGone = once(news, 'offline');
    // In the middle of an event.
    first.write('id: 8\nevent: queue.view\nda');
    first.destroy();
    await isGone;
    const second = await begin();
    second.write(eventOf(8));
    await once(news, 'event');
    assert.deepEqual(events, ['queue.view 7', 'queue.view 7', 'queue.view 900', 'queue.view 3', 'queue.view 8']);
    assert.deepEqual(states, ['connecting', 'live', 'offline', 'connecting', 'live']);
  });

  it('gives up a line that is silent for longer than the server ever is', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { begin, news, states } = await connect(t);
    const line = await begin();
    t.mock.timers.tick(30_000);
    line.write(eventOf(1));
    await once(news, 'event');
    t.mock.timers.tick(30_000);
    assert.equal(states.at(-1), 'live');
    const isGone = once(news, 'offline');
    t.mock.timers.tick(15_000);
    await isGone;
  });
});
