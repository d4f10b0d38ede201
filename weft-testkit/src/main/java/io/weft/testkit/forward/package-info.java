// SPDX-License-Identifier: Apache-2.0
/// A transport in the clothes of another one: each class hands everything on, and a subclass says
/// what it does instead. Threads as those of the real one.
@NullMarked
package io.weft.testkit.forward;

import org.jspecify.annotations.NullMarked;
