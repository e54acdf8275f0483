interface ProcessReport {
  userLimits?: { open_files?: { soft?: number | string } };
}

/** How many files and sockets the process may have open; `Infinity` where the system sets no limit or does not say. */
export function openFilesLimit(): number {
  const { report } = process as { report?: NodeJS.ProcessReport & { excludeNetwork?: boolean } };
  if (!report) return Infinity;
  const { excludeNetwork } = report;
  // Otherwise the report looks up the names of all peers, and blocks meanwhile.
  report.excludeNetwork = true;
  try {
    const soft = Number((report.getReport() as ProcessReport).userLimits?.open_files?.soft);
    return soft > 0 ? soft : Infinity;
  } catch {
    return Infinity;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}
