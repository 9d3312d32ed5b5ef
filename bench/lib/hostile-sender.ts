import http from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

export interface HostileWork {
  readonly url: string;
  readonly path: string;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly atOnce: number;
}

export interface HostileAnswer {
  /** 0: the connection ended without an answer. */
  readonly status: number;
}

const { url, path, body, headers, atOnce } = workerData as HostileWork;

function send(): Promise<HostileAnswer> {
  return new Promise((resolve) => {
    const all = { 'content-type': 'application/json', 'content-length': body.length, ...headers };
    const request = http.request(`${url}${path}`, { method: 'POST', headers: all }, (response) => {
      response.resume();
      response.once('close', () => resolve({ status: response.statusCode ?? 0 }));
    });
    request.once('error', () => resolve({ status: 0 }));
    request.end(body);
  });
}

parentPort?.postMessage(await Promise.all(Array.from({ length: atOnce }, send)));
