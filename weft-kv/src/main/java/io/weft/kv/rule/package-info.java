// SPDX-License-Identifier: Apache-2.0
/// Initial values and update rules, which determine how pushed gradients change values. Pure; any
/// thread.
@NullMarked
package io.weft.kv.rule;

import org.jspecify.annotations.NullMarked;
