// SPDX-License-Identifier: Apache-2.0
/// How pushed gradients change values: update rules as plug-ins. Pure; any thread.
@NullMarked
package io.weft.kv.rule;

import org.jspecify.annotations.NullMarked;
