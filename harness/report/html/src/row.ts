// SPDX-License-Identifier: Apache-2.0
// Objects that the data has as arrays of their fields, because there are many of them.

/** The fields in their order; those that are missing at the end are null. */
export type Row<T> = readonly unknown[] & { of?: T };

export function unpacked<T>(fields: readonly (keyof T)[], row: Row<T>): T {
  return Object.fromEntries(fields.map((field, i) => [field, row[i] ?? null])) as T;
}
