// SPDX-License-Identifier: Apache-2.0
/// Wrappers of a transport. Each class forwards all calls, and a subclass overrides some of them.
/// The rules for threads are those of the wrapped transport.
@NullMarked
package io.weft.testkit.forward;

import org.jspecify.annotations.NullMarked;
