// SPDX-License-Identifier: Apache-2.0
/// Small colour pictures: CIFAR-10 in binary batches or folders of images, and synthetic pictures.
@NullMarked
package io.weft.workloads.pictures;

import org.jspecify.annotations.NullMarked;
