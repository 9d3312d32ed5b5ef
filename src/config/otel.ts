import { type Read, type Rules, VARIABLES } from './variables.ts';

export const OTEL_RULES: Rules<'OTEL_'> = {
  OTEL_EXPORTER_OTLP_ENDPOINT: checkReceiver,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: checkReceiver,
  OTEL_EXPORTER_OTLP_HEADERS: (given) => {
    const pairs = parsePairs(given);
    const isHeader = ([name, text]: readonly [string, string]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && isVisible(text);
    return pairs?.every(isHeader) ? undefined : 'must be headers such as api-key=secret, separated by commas';
  },
  OTEL_RESOURCE_ATTRIBUTES: (given) =>
    parsePairs(given) === undefined
      ? `must be facts such as service.namespace=ci, separated by commas, not "${given}"`
      : undefined,
  OTEL_TRACES_SAMPLER_ARG: (given) =>
    /^(?:0|1|0?\.\d+|1\.0+)$/.test(given) ? undefined : `must be a number from 0 to 1, not "${given}"`,
};

function checkReceiver(given: string): string | undefined {
  const { username, password } = new URL(given);
  return username === '' && password === ''
    ? undefined
    : 'must not have a user or password: use OTEL_EXPORTER_OTLP_HEADERS';
}

function isVisible(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}

// SPEC M21
export function isTraced(read: Read): boolean {
  const isOff = read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || read('OTEL_TRACES_EXPORTER') === 'none';
  return !isOff && (read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? read('OTEL_EXPORTER_OTLP_ENDPOINT')) !== undefined;
}

export function parseOtel(read: Read) {
  if (!isTraced(read)) return undefined;
  const below = read('OTEL_EXPORTER_OTLP_ENDPOINT')?.replace(/\/*$/, '/v1/traces');
  const sampler = read('OTEL_TRACES_SAMPLER') ?? VARIABLES.OTEL_TRACES_SAMPLER.default;
  const given = Object.fromEntries(parsePairs(read('OTEL_RESOURCE_ATTRIBUTES') ?? '') ?? []);
  const name = read('OTEL_SERVICE_NAME') ?? given['service.name'] ?? VARIABLES.OTEL_SERVICE_NAME.default;
  return {
    url: read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? below ?? '',
    headers: Object.fromEntries(parsePairs(read('OTEL_EXPORTER_OTLP_HEADERS') ?? '') ?? []),
    timeoutMs: Number(read('OTEL_EXPORTER_OTLP_TIMEOUT') ?? VARIABLES.OTEL_EXPORTER_OTLP_TIMEOUT.default),
    resource: { ...given, 'service.name': name },
    sampling: {
      isParentBased: sampler.startsWith('parentbased_'),
      ratio: ratioOf(sampler, read('OTEL_TRACES_SAMPLER_ARG') ?? VARIABLES.OTEL_TRACES_SAMPLER_ARG.default),
    },
  };
}

function ratioOf(sampler: string, argument: string): number {
  if (sampler.endsWith('always_off')) return 0;
  return sampler.endsWith('traceidratio') ? Number(argument) : 1;
}

/** Undefined if something is no pair. Values are percent-encoded, as in the header Baggage of W3C. */
function parsePairs(given: string): readonly (readonly [string, string])[] | undefined {
  try {
    const parts = given.split(',').filter((part) => part.trim() !== '');
    const pairs = parts.map((part) => {
      const [, key, text] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
      return key === undefined || text === undefined ? undefined : ([key, decodeURIComponent(text)] as const);
    });
    return pairs.every((pair) => pair !== undefined) ? pairs : undefined;
  } catch {
    return undefined;
  }
}

/** A variable of the specification that Sluice does not read would silently have no effect. */
export function warnOfOtel(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(environment)
    .filter(
      (name) => /^OTEL_(?:EXPORTER_OTLP|TRACES|BSP|SPAN|ATTRIBUTE|PROPAGATORS)/.test(name) && !(name in VARIABLES),
    )
    .map((name) => `${name} is not read by Sluice. "sluice serve --help" lists the variables for traces.`);
}
