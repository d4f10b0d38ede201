// SPDX-License-Identifier: Apache-2.0
/// Interfaces of stores for rows that do not fit into memory. A module with a store on disk
/// implements them.
@NullMarked
package io.weft.kv.spill;

import org.jspecify.annotations.NullMarked;
