// SPDX-License-Identifier: Apache-2.0
/// The specification of a table, and the mapping of its keys to shards.
@NullMarked
package io.weft.kv.spec;

import org.jspecify.annotations.NullMarked;
