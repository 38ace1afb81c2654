"""The built-in models in PyTorch, with the same names of tensors. Inputs are N x C x H x W."""

import torch
import torch.nn.functional as F
from torch import nn


class Mlp(nn.Module):
    """mlp:WIDTHS"""

    def __init__(self, inputs, widths, classes):
        super().__init__()
        sizes = [inputs, *widths, classes]
        self.layers = len(sizes) - 1
        for i in range(self.layers):
            self.add_module(f"fc{i + 1}", nn.Linear(sizes[i], sizes[i + 1]))

    def forward(self, x):
        x = torch.flatten(x, 1)
        for i in range(1, self.layers):
            x = F.relu(self.get_submodule(f"fc{i}")(x))
        return F.log_softmax(self.get_submodule(f"fc{self.layers}")(x), 1)


class Mnist(nn.Module):
    """mnist: two convolutions, each pooled, rectified, then normalised"""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 10, 5), nn.BatchNorm2d(10)
        self.conv2, self.bn2 = nn.Conv2d(10, 20, 5), nn.BatchNorm2d(20)
        self.fc1, self.fc2 = nn.Linear(320, 50), nn.Linear(50, 10)

    def forward(self, x):
        x = self.bn1(F.relu(F.max_pool2d(self.conv1(x), 2)))
        x = self.bn2(F.relu(F.max_pool2d(self.conv2(x), 2)))
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        return F.log_softmax(self.fc2(x), 1)


class MnistTutorial(nn.Module):
    """mnist-tutorial, with or without its two dropouts"""

    def __init__(self, has_dropout=True):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
        self.fc1, self.fc2 = nn.Linear(9216, 128), nn.Linear(128, 10)
        self.dropout1 = nn.Dropout(0.25 if has_dropout else 0)
        self.dropout2 = nn.Dropout(0.5 if has_dropout else 0)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = self.dropout1(F.max_pool2d(x, 2))
        x = self.dropout2(F.relu(self.fc1(torch.flatten(x, 1))))
        return F.log_softmax(self.fc2(x), 1)


class Block(nn.Module):
    """A basic block or, with expansion, a bottleneck: convolutions of (kernel, stride, outputs)"""

    def __init__(self, inputs, convolutions):
        super().__init__()
        self.convolutions, channels, total_stride = len(convolutions), inputs, 1
        for i, (kernel, stride, outputs) in enumerate(convolutions, start=1):
            self.add_module(f"conv{i}", nn.Conv2d(channels, outputs, kernel, stride, kernel // 2,
                                                  bias=False))
            self.add_module(f"bn{i}", nn.BatchNorm2d(outputs))
            channels, total_stride = outputs, total_stride * stride
        self.downsample = None
        if total_stride > 1 or inputs != channels:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, channels, 1, total_stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        for i in range(1, self.convolutions + 1):
            x = self.get_submodule(f"bn{i}")(self.get_submodule(f"conv{i}")(x))
            x = F.relu(x) if i < self.convolutions else F.relu(x + shortcut)
        return x


class ResidualNetwork(nn.Module):
    """resnet20: a 3x3 convolution and three stages; resnet18 and resnet50: a 7x7 one and four"""

    def __init__(self, channels, width, blocks, is_large, has_bottlenecks):
        super().__init__()
        self.is_large = is_large
        kernel, stride = (7, 2) if is_large else (3, 1)
        self.conv1 = nn.Conv2d(channels, width, kernel, stride, kernel // 2, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        inputs = width
        for stage, count in enumerate(blocks, start=1):
            layers = []
            for i in range(count):
                stride = 2 if stage > 1 and i == 0 else 1
                layers.append(Block(inputs, [(1, 1, width), (3, stride, width), (1, 1, 4 * width)]
                                    if has_bottlenecks else
                                    [(3, stride, width), (3, 1, width)]))
                inputs = 4 * width if has_bottlenecks else width
            self.add_module(f"layer{stage}", nn.Sequential(*layers))
            width *= 2
        self.stages = len(blocks)
        self.fc = nn.Linear(inputs, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        if self.is_large:
            x = F.max_pool2d(x, 3, 2, 1)
        for stage in range(1, self.stages + 1):
            x = self.get_submodule(f"layer{stage}")(x)
        return F.log_softmax(self.fc(x.mean((2, 3))), 1)


RESIDUAL_NETWORKS = {  # width, blocks of each stage, is large, has bottlenecks
    "resnet20": (16, [3, 3, 3], False, False),
    "resnet32": (16, [5, 5, 5], False, False),
    "resnet56": (16, [9, 9, 9], False, False),
    "resnet18": (64, [2, 2, 2, 2], True, False),
    "resnet50": (64, [3, 4, 6, 3], True, True),
}


def make_model(spec, inputs, channels=1):
    """What `rubato train --model spec` trains on 10 classes; `inputs` are values per image."""
    kind, _, settings = spec.partition(":")
    if kind in RESIDUAL_NETWORKS:
        return ResidualNetwork(channels, *RESIDUAL_NETWORKS[kind])
    if kind == "mlp":
        return Mlp(inputs, [int(width) for width in settings.split(",")], 10)
    return {"mnist": lambda: Mnist(),
            "mnist-tutorial": lambda: MnistTutorial(settings != "dropout=0")}[kind]()
