// `npm pack` and `npm publish` of the clone would pack its sources, which need a build.
process.stderr.write('sluice: The clone is not packed as it is. `npm run release` makes the packages, in dist/.\n');
process.exit(1);
