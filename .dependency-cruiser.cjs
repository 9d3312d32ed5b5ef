// Who may import whom. A room lists what it may import; everything else is refused, npm packages and `node:*` included
// where the room names neither. Tests beside their source may import anything.
const test = '\\.test\\.ts$';
const any = { own: '^src/', vendor: '^node_modules/' };

// Ports are the files directly in these rooms; adapters are the folders beside them.
const port = '^src/(forge|check-runner|identity|outgoing|simulator|storage)/[^/]+\\.ts$|^src/git/git\\.ts$';
const pure = '^src/(checks|engine|flaky|junit|lanes|policy)/';
const lib = '^src/lib/';
const words = '^src/words/';
// A hash is a pure function of its text; biome.json refuses every other name of node:crypto in the pure rooms.
const hashing = '^(node:)?crypto$';
const contract = '^src/contract/';

/** Refuses every import of our own modules by `from` that none of `may` allows. */
function room(name, from, may, comment) {
  return { name, severity: 'error', comment, from: { path: from, pathNot: test }, to: { path: any.own, pathNot: may } };
}

/** A room of src/app: imports core and the rooms that it names. */
function appRoom(name, rooms = []) {
  const may = ['core', name, ...rooms].join('|');
  return room(`app-${name}`, `^src/app/${name}/`, [`^src/app/(${may})/`, contract, port, pure, words, lib], APP);
}

const APP = 'A room of app imports core, the rooms that it names, the contract, ports, pure rooms and lib.';

/** Refuses every import at all, npm packages and Node's own modules included, that none of `may` allows. */
function sealedRoom(name, from, may, comment) {
  return { name, severity: 'error', comment, from: { path: from, pathNot: test }, to: { pathNot: may } };
}

module.exports = {
  forbidden: [
    room('lib-knows-nobody', lib, [lib], 'lib holds no domain words.'),
    sealedRoom(
      'engine-is-pure',
      '^src/engine/',
      ['^src/engine/', lib, hashing],
      'The engine imports only lib and `hash`.',
    ),
    sealedRoom('flaky-is-pure', '^src/flaky/', ['^src/flaky/', lib, hashing], 'flaky imports only lib and `hash`.'),
    sealedRoom(
      'junit-is-pure',
      '^src/junit/',
      ['^src/junit/', lib, hashing, '^node_modules/saxes/'],
      'junit imports only lib, `hash` and saxes, which touches nothing but the text it is given.',
    ),
    sealedRoom(
      'checks-are-pure',
      '^src/checks/',
      ['^src/checks/', lib, '^node_modules/yaml/'],
      'checks reads what a repository says of its checks.',
    ),
    sealedRoom(
      'lanes-are-pure',
      '^src/lanes/',
      ['^src/lanes/', lib, hashing, '^node_modules/smol-toml/'],
      'lanes reads manifests: it imports only lib, `hash` and smol-toml, which touches nothing but its text.',
    ),
    room('lanes-thread', '^src/lanes-main\\.ts$', ['^src/lanes/', lib], 'It reads manifests and places files.'),
    sealedRoom('policy-is-pure', '^src/policy/', ['^src/policy/', '^src/engine/', lib], 'policy runs the engine.'),
    sealedRoom('words-are-pure', '^src/words/', ['^src/words/', '^src/engine/', lib], 'words tells of queues.'),
    room('config-knows-lib', '^src/config/', ['^src/config/', lib], 'config turns the environment into a table.'),

    room('forge-port', '^src/forge/[^/]+\\.ts$', ['^src/forge/[^/]+\\.ts$', pure, lib], 'A port knows no adapter.'),
    room(
      'storage-port',
      '^src/storage/[^/]+\\.ts$',
      ['^src/storage/[^/]+\\.ts$', pure, lib],
      'A port knows no adapter.',
    ),
    room('git-port', '^src/git/git\\.ts$', ['^src/git/', lib], 'A port knows no adapter.'),
    room('git-adapter', '^src/git/', ['^src/git/', lib], 'git imports its port and lib.'),
    room(
      'forge-adapters',
      '^src/forge/([^/]+)/',
      ['^src/forge/[^/]+\\.ts$', '^src/forge/$1/', '^src/forge/(candidate|hosted)/', '^src/git/', pure, lib],
      'A forge imports its port, what forges share (forge/candidate, forge/hosted) and lib, never another forge.',
    ),
    room(
      'check-runner-port',
      '^src/check-runner/[^/]+\\.ts$',
      ['^src/check-runner/[^/]+\\.ts$', lib],
      'A port knows no adapter.',
    ),
    room(
      'check-runner-adapters',
      '^src/check-runner/([^/]+)/',
      ['^src/check-runner/[^/]+\\.ts$', '^src/check-runner/$1/', lib],
      'A check runner imports its port and lib.',
    ),
    room('outgoing-port', '^src/outgoing/[^/]+\\.ts$', ['^src/outgoing/[^/]+\\.ts$', lib], 'A port knows no adapter.'),
    room('outgoing-adapters', '^src/outgoing/([^/]+)/', ['^src/outgoing/', lib], 'A sender imports its port and lib.'),
    room('identity-port', '^src/identity/[^/]+\\.ts$', ['^src/identity/[^/]+\\.ts$', lib], 'A port knows no adapter.'),
    room(
      'identity-adapters',
      '^src/identity/([^/]+)/',
      ['^src/identity/[^/]+\\.ts$', '^src/identity/$1/', lib],
      'A provider imports its port and lib.',
    ),
    room(
      'storage-adapters',
      '^src/storage/([^/]+)/',
      ['^src/storage/[^/]+\\.ts$', '^src/storage/$1/', '^src/storage/sql/', pure, lib],
      'A store imports its port, lib and what the SQL stores share (storage/sql), never another store.',
    ),

    room(
      'bundle-reads-uploads',
      '^src/bundle/',
      ['^src/bundle/', '^src/flaky/identity/', lib],
      'bundle unpacks uploads; of detection it knows only how tests are named.',
    ),

    room(
      'ingest-knows-ports',
      '^src/ingest/',
      ['^src/ingest/', '^src/bundle/', port, pure, lib],
      'ingest turns uploads into what is stored: it knows ports, what tests mean, and how reports are read.',
    ),
    room(
      'ingest-thread-opens-a-store',
      '^src/ingest-main\\.ts$',
      ['^src/(ingest|config|storage)/', lib],
      'The thread that processes uploads has a connection of its own, and knows nobody else.',
    ),
    {
      name: 'ingest-has-a-thread',
      severity: 'error',
      comment: 'Only main.ts starts the thread; the others talk to it through App.ingest.',
      from: { path: '^src/', pathNot: [test, '^src/ingest/', '^src/(main|ingest-main)\\.ts$'] },
      to: { path: '^src/ingest/|^src/ingest-main\\.ts$' },
    },

    room(
      'simulator-port',
      '^src/simulator/[^/]+\\.ts$',
      ['^src/simulator/[^/]+\\.ts$', pure, lib],
      'A port knows no adapter.',
    ),
    room('simulator-thread', '^src/simulator(/thread/|-main)', ['^src/simulator/', pure, lib], 'It plays queues.'),

    room(
      'contract-describes',
      contract,
      [contract, port, pure, words, lib],
      'The contract describes requests and replies with the values of ports and pure rooms.',
    ),
    room('app-has-rooms', '^src/app/[^/]+\\.ts$', [], 'Every file of app lives in a room.'),
    appRoom('core'),
    appRoom('access'),
    appRoom('feed'),
    appRoom('forecast'),
    appRoom('repositories'),
    appRoom('tests'),
    appRoom('webhooks', ['feed', 'tests']),
    appRoom('queue', ['access', 'repositories', 'tests']),
    appRoom('advice'),
    appRoom('uploads', ['queue', 'repositories']),
    appRoom('pr-page', ['queue', 'tests']),
    appRoom('forge-events', ['pr-page', 'queue', 'repositories']),
    appRoom('effects', ['pr-page', 'queue', 'repositories', 'tests', 'uploads']),
    appRoom('upkeep', ['access', 'queue']),
    room(
      'http-knows-app',
      '^src/http/',
      ['^src/(http|app)/', contract, port, pure, lib],
      'http imports app, the contract, the types of ports and engine, lib.',
    ),
    room('web-is-a-client', '^src/web/', ['^src/web/', contract], 'The dashboard knows the API and nothing else.'),
    {
      name: 'web-runs-in-browsers',
      severity: 'error',
      comment: 'Of the contract the dashboard takes types; nothing of it reaches a browser.',
      from: { path: '^src/web/', pathNot: test },
      to: { path: contract, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'http-decides-nothing',
      severity: 'error',
      comment: 'http uses the types of the pure rooms and the ports; what runs is called through app.',
      from: { path: '^src/http/', pathNot: test },
      to: { path: `${port}|${pure}`, dependencyTypesNot: ['type-only'] },
    },
    room(
      'cli-reads-the-checkout',
      '^src/cli/(core/checkout|upload/upload-facts)\\.ts$',
      ['^src/cli/', '^src/git/read-checkout\\.ts$', '^src/flaky/identity/', lib],
      'What an upload is about is asked of git on the machine where the tests ran.',
    ),
    room(
      'cli-speaks-http',
      '^src/cli/(?!core/(?:checkout|framework)\\.ts|ci/(?:exec|select)\\.ts|pr/push-pull-request\\.ts|upload/|simulate/|forge/(manifest|run-gitea-setup|gitea-plan|run-gitlab-setup)\\.ts)',
      ['^src/cli/', contract, '^src/config/', lib, '^src/(main|move-store)\\.ts$'],
      'The cli speaks HTTP through the contract only.',
    ),
    room(
      'cli-selects-tests',
      '^src/cli/(core/framework|ci/(exec|select))\\.ts$',
      ['^src/cli/', contract, '^src/checks/selects/', lib],
      'A CI outside runs the tests of a question as the built-in runner does.',
    ),
    room(
      'cli-simulates-on-a-copy',
      '^src/cli/simulate/',
      [
        '^src/cli/',
        '^src/policy/',
        '^src/storage/',
        '^src/app/(core/queue-codec|advice/queue-history)\\.ts$',
        pure,
        words,
        lib,
      ],
      'The simulation of policies reads the history of a queue from a copy of its store, without a server.',
    ),
    room(
      'setup-asks-for-what-is-needed',
      '^src/cli/forge/manifest\\.ts$',
      ['^src/cli/', '^src/forge/github/api/app-needs\\.ts$'],
      'What an App is asked to be allowed is what the server then looks for.',
    ),
    room(
      'setup-speaks-to-its-forge',
      '^src/cli/forge/(run-gitea-setup|gitea-plan|run-gitlab-setup)\\.ts$',
      ['^src/cli/', '^src/config/', '^src/forge/git(ea|lab)/api/', '^src/forge/hosted/rest-client\\.ts$', lib],
      'They have no Apps: the setup itself makes webhooks and settings, as the account of the server.',
    ),
    room(
      'cli-reads-reports',
      '^src/cli/upload/(?!upload-facts\\.ts)',
      ['^src/cli/', contract, '^src/flaky/identity/', '^src/junit/', lib],
      'Which tests of a report fail, and their ids, must be the same on both sides.',
    ),
    {
      name: 'only-serve-starts-a-server',
      severity: 'error',
      comment: 'Only the command `serve` loads the server, and only when it runs.',
      from: { path: '^src/', pathNot: [test, '^src/cli/(main|serve)\\.ts$'] },
      to: { path: '^src/main\\.ts$' },
    },
    {
      name: 'serve-loads-the-server-late',
      severity: 'error',
      comment: 'The other commands must not pay for the server: import() it.',
      from: { path: '^src/cli/', pathNot: test },
      to: { path: '^src/(main|move-store)\\.ts$', dynamic: false },
    },
    {
      name: 'traces-are-loaded-late',
      severity: 'error',
      comment: 'A server without traces must not pay for them: import() their sender.',
      from: { path: '^src/', pathNot: [test, '^src/outgoing/otlp/'] },
      to: { path: '^src/outgoing/otlp/', dynamic: false, dependencyTypesNot: ['type-only'] },
    },

    {
      name: 'only-the-demo-knows-the-example',
      severity: 'error',
      comment: 'The command `demo` starts the example, and loads it when it runs.',
      from: { path: '^src/', pathNot: '^src/cli/demo\\.ts$' },
      to: { path: '^examples/' },
    },
    {
      name: 'no-tests-in-source',
      severity: 'error',
      comment: 'What is served does not depend on tests, benchmarks or scripts.',
      from: { path: '^src/', pathNot: test },
      to: { path: [test, '^(test|bench|scripts)/'] },
    },
    {
      name: 'no-dev-packages-in-source',
      severity: 'error',
      comment: 'A package used at run time belongs in dependencies. The dashboard is bundled before.',
      from: { path: '^src/', pathNot: [test, '^src/web/'] },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    { name: 'no-cycles', severity: 'error', from: { path: any.own }, to: { circular: true } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: any.vendor },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    parser: 'tsc',
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.mjs', '.cjs', '.js', '.json'],
    },
  },
};
