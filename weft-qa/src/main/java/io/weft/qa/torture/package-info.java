// SPDX-License-Identifier: Apache-2.0
/// Harms real jobs of real processes again and again, at moments that are drawn, and judges how
/// they end: who was named, how soon, and what was left behind. `docs/testing.md` tells how to use
/// it.
@NullMarked
package io.weft.qa.torture;

import org.jspecify.annotations.NullMarked;
