// The columns of the list of toggles.

/**
 * Divides environments into those that have a column and the others. With more than `most`, one less has a column: those
 * of the type production rather than others, and the last ones rather than the first ones.
 */
export function divide(environments, most = 3) {
  if (environments.length <= most) return { columns: environments, others: [] };
  const isProduction = ({ type }) => type === 'production';
  const byImportance = [...environments.filter((e) => !isProduction(e)), ...environments.filter(isProduction)];
  const important = byImportance.slice(1 - most);
  return {
    columns: environments.filter((e) => important.includes(e)),
    others: environments.filter((e) => !important.includes(e)),
  };
}
