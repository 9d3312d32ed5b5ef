// The table that the command line reads instead of the contract: src/cli/core/contract.json, written by `npm run docs`.
import { readdirSync } from 'node:fs';
import { createApiToken } from '../../src/contract/access.ts';
import { setMonitor } from '../../src/contract/monitors.ts';
import { listPullRequests } from '../../src/contract/pull-requests.ts';
import { settingInputs } from '../../src/contract/settings.ts';
import { listTestRuns } from '../../src/contract/test-history.ts';
import { updateTestSettings } from '../../src/contract/test-settings.ts';

const folder = new URL('../../src/contract/', import.meta.url);

/** @returns {Promise<string>} the text of src/cli/core/contract.json */
export async function renderCliContract() {
  const operations = await readOperations();
  const { repo: _repo, org_url_slug: _org, ...testSettings } = updateTestSettings.body.properties;
  const monitorTypes = setMonitor.body.properties.monitor.properties.type.enum;
  const table = {
    routes: Object.fromEntries(operations.flatMap(listRoute)),
    fields: Object.fromEntries(operations.flatMap(listFields)),
    choices: {
      pullRequestState: upper(listPullRequests.body.properties.state.enum),
      scope: createApiToken.body.properties.scopes.items.enum,
      conclusion: upper(listTestRuns.body.properties.conclusion.enum),
      monitorType: [...new Set(monitorTypes.map((name) => name.toUpperCase()))],
    },
    queueSettings: mapValues(settingInputs, fieldOf),
    testSettings: mapValues(testSettings, ({ type }) => ({ type })),
  };
  return `${JSON.stringify(table, null, 1)}\n`;
}

async function readOperations() {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const modules = await Promise.all(files.toSorted().map((file) => import(new URL(file, folder).href)));
  const isOperation = (value) => typeof value?.path === 'string' && value.reply !== undefined;
  return modules.flatMap((module) => Object.values(module).filter(isOperation));
}

/** The differences from a POST to /<name> that changes something; most operations have none. */
function listRoute({ name, method, path, scope }) {
  const route = {
    ...(method === 'POST' ? {} : { method }),
    ...(path === `/${name}` ? {} : { path }),
    ...(scope === 'read' ? { isRead: true } : {}),
  };
  return Object.keys(route).length === 0 ? [] : [[name, route]];
}

/** The names that a reply can have, and an item of a list in it. As one text: a line for each would be a thousand. */
function listFields({ name, reply }) {
  const { properties = {} } = reply;
  const items = Object.values(properties).flatMap((field) => Object.keys(field.items?.properties ?? {}));
  const own = Object.keys(properties);
  return own.length === 0 ? [] : [[name, `${own.join(',')};${[...new Set(items)].join(',')}`]];
}

const FIELD_PARTS = ['type', 'enum', 'anyOf', 'items', 'description', 'default'];

function fieldOf(schema) {
  return Object.fromEntries(
    FIELD_PARTS.filter((part) => schema[part] !== undefined).map((part) => [part, partOf(part, schema[part])]),
  );
}

function partOf(part, value) {
  if (part === 'items') return fieldOf(value);
  return part === 'anyOf' ? value.map(fieldOf) : value;
}

function upper(names) {
  return names.filter((name) => name === name.toUpperCase());
}

function mapValues(record, map) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
