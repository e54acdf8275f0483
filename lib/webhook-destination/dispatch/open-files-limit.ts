/** Returns how many files and sockets the process may open; `Infinity` if the system sets or reports no limit. */
export function openFilesLimit(): number {
  const { report } = process as { report?: NodeJS.ProcessReport & { excludeNetwork?: boolean } };
  if (!report) return Infinity;
  const { excludeNetwork } = report;
  // Otherwise the report would block while it looks up the names of all peers.
  report.excludeNetwork = true;
  try {
    const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
    const soft = Number(userLimits?.open_files?.soft);
    return soft > 0 ? soft : Infinity;
  } catch {
    return Infinity;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}
