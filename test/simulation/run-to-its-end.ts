/** A run under one seed. */
interface Run<Report> {
  go(): Promise<void>;
  close(): Promise<void>;
  noteBug(error: unknown): void;
  report(): Report;
}

/** Whatever is thrown, also where nobody waits for it, is a bug that the report names. */
export async function runToItsEnd<Report>(run: Run<Report>): Promise<Report> {
  const onRejection = (error: unknown) => run.noteBug(error);
  process.on('unhandledRejection', onRejection);
  try {
    await run.go();
  } catch (error) {
    run.noteBug(error);
  } finally {
    await run.close().catch(onRejection);
    process.off('unhandledRejection', onRejection);
  }
  return run.report();
}
