"""What the built-in models cost: parameters, and arithmetic of a forward and backward pass.

usage: model_costs.py       prints both for every model that is measured

Counted are the multiplications and additions of convolutions and dense layers: once forwards, once
for the gradient of the weights, and once for that of the inputs, which the first layer does not
need. Normalisation, pooling and activations are left out, as is usual: they move bytes.
"""

import dataclasses
import math

IMAGE_28, IMAGE_32 = (1, 28, 28), (3, 32, 32)


class Layer:
    """Of some tensors of parameters, and arithmetic."""

    @property
    def parameters(self):
        return sum(map(math.prod, self.tensors))


@dataclasses.dataclass
class Matrix(Layer):
    """A convolution, or a dense layer as one of a single pixel."""

    shape: tuple  # of the weights: outputs, inputs, height, width
    pixels: int = 1  # of an output channel
    has_bias: bool = True

    @property
    def forward_flops(self):
        return 2 * math.prod(self.shape) * self.pixels

    @property
    def tensors(self):
        return [self.shape, self.shape[:1]] if self.has_bias else [self.shape]


@dataclasses.dataclass
class Norm(Layer):
    """BatchNorm: a weight and a bias for each channel."""

    channels: int
    forward_flops = 0

    @property
    def tensors(self):
        return [(self.channels,)] * 2


def dense(inputs, outputs):
    return Matrix((outputs, inputs))


def mlp(inputs, widths, classes=10):
    sizes = [inputs, *widths, classes]
    return [dense(*pair) for pair in zip(sizes, sizes[1:])]


def mnist():
    return [Matrix((10, 1, 5, 5), 24 * 24), Norm(10), Matrix((20, 10, 5, 5), 8 * 8), Norm(20),
            dense(320, 50), dense(50, 10)]


def mnist_tutorial():
    return [Matrix((32, 1, 3, 3), 26 * 26), Matrix((64, 32, 3, 3), 24 * 24),
            dense(9216, 128), dense(128, 10)]


def convolution(inputs, outputs, kernel, side):
    return [Matrix((outputs, inputs, kernel, kernel), side * side, has_bias=False), Norm(outputs)]


def resnet20():
    """He et al. 2015 (arXiv:1512.03385), section 4.2, with 1x1 convolutions as shortcuts."""
    layers, inputs = convolution(3, 16, 3, 32), 16
    for outputs, side in ((16, 32), (32, 16), (64, 8)):
        for block in range(3):
            layers += convolution(inputs, outputs, 3, side) + convolution(outputs, outputs, 3, side)
            if inputs != outputs:
                layers += convolution(inputs, outputs, 1, side)
            inputs = outputs
    return layers + [dense(64, 10)]


def resnet50():
    """The same paper's table 1, on images of 224 x 224 and 1000 classes."""
    layers, inputs = convolution(3, 64, 7, 112), 64
    for width, blocks, side in ((64, 3, 56), (128, 4, 28), (256, 6, 14), (512, 3, 7)):
        for block in range(blocks):
            layers += (convolution(inputs, width, 1, side) + convolution(width, width, 3, side)
                       + convolution(width, 4 * width, 1, side))
            if block == 0:
                layers += convolution(inputs, 4 * width, 1, side)
            inputs = 4 * width
    return layers + [dense(2048, 1000)]


def layers_of(model):
    kind, _, settings = model.partition(":")
    if kind == "mlp":
        return mlp(math.prod(IMAGE_28), [int(width) for width in settings.split(",")])
    return {"mnist": mnist, "mnist-tutorial": mnist_tutorial, "resnet20": resnet20,
            "resnet50": resnet50}[kind]()


def tensors_of(model):
    return [shape for layer in layers_of(model) for shape in layer.tensors]


def parameters_of(model):
    return sum(layer.parameters for layer in layers_of(model))


def flops_per_sample(model):
    """Of a forward and backward pass."""
    layers = layers_of(model)
    return 3 * sum(layer.forward_flops for layer in layers) - layers[0].forward_flops


def main():
    print(f"{'model':<16}{'parameters':>12}{'MFLOP a sample':>16}")
    for model in ("mnist", "mnist-tutorial", "mlp:512,512", "resnet20", "resnet50"):
        print(f"{model:<16}{parameters_of(model):>12}{flops_per_sample(model) / 1e6:>16.1f}")


if __name__ == "__main__":
    main()
