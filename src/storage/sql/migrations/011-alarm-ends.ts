import type { Migration } from './migration.ts';

export const alarmEnds: Migration = {
  name: '011-alarm-ends',
  statements: ({ schema, types }) => [schema.alterTable('alarms').addColumn('ended_at', types.integer)],
};
