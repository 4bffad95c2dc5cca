// The weights of variants, which add up to 1,000. This module imports nothing.

const total = 1000;

/** Returns variants with the weights that the API gives them: fixed ones stay, and the variable ones share the rest equally. */
export function spread(variants) {
  const fixed = variants.filter(({ weightType }) => weightType === 'fix').reduce((sum, { weight }) => sum + weight, 0);
  const count = variants.filter(({ weightType }) => weightType !== 'fix').length;
  const rest = Math.max(0, total - fixed);
  let i = 0;
  return variants.map((variant) => {
    if (variant.weightType === 'fix') return variant;
    i += 1;
    return { ...variant, weight: Math.floor(rest / count) + (i <= rest % count ? 1 : 0) };
  });
}
