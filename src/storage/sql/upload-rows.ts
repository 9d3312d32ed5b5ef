import type { Upload } from '../uploads.ts';
import { rowsOf } from './columns.ts';
import type { Schema } from './schema.ts';
import { UPLOAD } from './test-tables.ts';

const uploads = rowsOf(UPLOAD);

export function toUpload(row: Schema['uploads']): Upload {
  const counts = row.tests_ran === null ? null : { ran: row.tests_ran, failed: row.tests_failed ?? 0 };
  return { ...uploads.to(row), counts };
}

export function fromUpload({ counts, ...upload }: Upload, no: number | null): Schema['uploads'] {
  return {
    ...uploads.from(upload),
    no,
    candidate_id: upload.fields?.candidateId ?? null,
    check_name: upload.fields?.check ?? null,
    tests_ran: counts?.ran ?? null,
    tests_failed: counts?.failed ?? null,
    retry_at: null,
    is_to_recount: false,
    is_proven: false,
  };
}
