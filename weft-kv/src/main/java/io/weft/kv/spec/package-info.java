// SPDX-License-Identifier: Apache-2.0
/// What a table is, and how its keys are cut into shards.
@NullMarked
package io.weft.kv.spec;

import org.jspecify.annotations.NullMarked;
