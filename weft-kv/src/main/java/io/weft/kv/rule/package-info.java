// SPDX-License-Identifier: Apache-2.0
/// What values begin with and how pushed gradients change them: update rules as plug-ins. Pure; any
/// thread.
@NullMarked
package io.weft.kv.rule;

import org.jspecify.annotations.NullMarked;
