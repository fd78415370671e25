#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/data/batch.h"
#include "runtime/data/dataset_table.h"
#include "runtime/data/idx_file.h"
#include "topology/error.h"

namespace egpurun::runtime {
namespace {

using ::testing::HasSubstr;

// An IDX file's bytes: magic, sizes, then values 0, 1, 2, ... modulo `classes`.
std::string idx_bytes(
    const std::vector<unsigned>& shape,
    unsigned classes = 10) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(shape.size())};
  std::size_t count = 1;
  for (const unsigned size : shape) {
    for (const int shift : {24, 16, 8, 0}) {
      bytes.push_back(static_cast<char>(size >> shift & 0xFF));
    }
    count *= size;
  }
  for (std::size_t i = 0; i < count; ++i) {
    bytes.push_back(static_cast<char>(i % classes));
  }
  return bytes;
}

class DatasetFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        std::filesystem::temp_directory_path() / "egpu-data-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    write("train-images-idx3-ubyte.gz", idx_bytes({20, 4, 3}, 256));
    write("train-labels-idx1-ubyte.gz", idx_bytes({20}));
    write("t10k-images-idx3-ubyte", idx_bytes({5, 4, 3}, 256));
    write("t10k-labels-idx1-ubyte", idx_bytes({5}));
    data_.folder = folder_.string();
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
  }

  void write(const std::string& name, const std::string& bytes) {
    const std::string path = folder_ / name;
    const char* mode = name.ends_with(".gz") ? "wb" : "wbT"; // T: as it is
    gzFile file = gzopen(path.c_str(), mode);
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(
        gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())),
        static_cast<int>(bytes.size()));
    ASSERT_EQ(gzclose(file), Z_OK);
  }

  // Loads and expects an Error; returns its text and place.
  std::string error() {
    try {
      load_dataset(data_);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_FALSE(error.advice().empty());
      return topology::format_error("test", error);
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  std::filesystem::path folder_;
  jobs::DataSection data_;
};

TEST_F(DatasetFiles, ReadsGzippedAndPlainFiles) {
  const DatasetPair pair = load_dataset(data_);
  EXPECT_EQ(pair.train.count, 20);
  EXPECT_EQ(pair.train.height, 4);
  EXPECT_EQ(pair.train.width, 3);
  EXPECT_EQ(pair.train.classes, 10);
  ASSERT_EQ(pair.train.pixels.size(), 240u);
  EXPECT_EQ(pair.train.pixels[239], 239);
  EXPECT_EQ(pair.train.labels[13], 3);
  EXPECT_EQ(pair.test.count, 5);
  EXPECT_EQ(pair.test.pixels.size(), 60u);
}

TEST_F(DatasetFiles, KeepsTheFirstSamples) {
  data_.train_samples = 7;
  data_.test_samples = 2;
  const DatasetPair pair = load_dataset(data_);
  EXPECT_EQ(pair.train.count, 7);
  EXPECT_EQ(pair.train.pixels.size(), 84u);
  EXPECT_EQ(pair.train.labels.size(), 7u);
  EXPECT_EQ(pair.test.count, 2);
  data_.train_samples = 21;
  EXPECT_THAT(error(), HasSubstr("20 samples"));
}

TEST_F(DatasetFiles, NamesAMissingFile) {
  std::filesystem::remove(folder_ / "t10k-labels-idx1-ubyte");
  const std::string text = error();
  EXPECT_THAT(text, HasSubstr("t10k-labels-idx1-ubyte.gz"));
  EXPECT_THAT(text, HasSubstr("No such file"));
  EXPECT_THAT(text, HasSubstr("dataset-fashion-mnist"));
}

TEST_F(DatasetFiles, RejectsADirectoryInPlaceOfAFile) {
  std::filesystem::remove(folder_ / "t10k-labels-idx1-ubyte");
  std::filesystem::create_directory(folder_ / "t10k-labels-idx1-ubyte");
  EXPECT_THAT(error(), HasSubstr("t10k-labels-idx1-ubyte"));
}

TEST_F(DatasetFiles, RejectsEveryTruncation) {
  for (const char* name :
       {"train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte"}) {
    const std::filesystem::path path = folder_ / name;
    const auto whole = std::filesystem::file_size(path);
    std::filesystem::copy_file(path, folder_ / "kept");
    for (std::uintmax_t size = 0; size < whole; ++size) {
      std::filesystem::copy_file(
          folder_ / "kept",
          path,
          std::filesystem::copy_options::overwrite_existing);
      std::filesystem::resize_file(path, size);
      EXPECT_THAT(error(), HasSubstr(name)) << size << " bytes";
    }
    std::filesystem::remove(path);
    std::filesystem::rename(folder_ / "kept", path);
  }
}

TEST_F(DatasetFiles, RejectsADamagedGzipFile) {
  const std::filesystem::path path = folder_ / "train-labels-idx1-ubyte.gz";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-6, std::ios::end); // within the checksum
  file.put('\x55');
  file.close();
  EXPECT_THAT(error(), HasSubstr("damaged gzip file"));
}

TEST_F(DatasetFiles, RejectsWrongMagicNumber) {
  write("train-images-idx3-ubyte.gz", idx_bytes({20}));
  EXPECT_THAT(error(), HasSubstr("00000801 instead of 00000803"));
}

TEST_F(DatasetFiles, RejectsSizesThatCannotBeTrue) {
  std::string bytes = idx_bytes({1, 4, 3});
  for (std::size_t i = 4; i < 16; ++i) {
    bytes[i] = '\xFF';
  }
  write("train-images-idx3-ubyte.gz", bytes);
  EXPECT_THAT(error(), HasSubstr("too large"));
}

TEST_F(DatasetFiles, RejectsTrailingBytes) {
  write("t10k-labels-idx1-ubyte", idx_bytes({5}) + "x");
  EXPECT_THAT(error(), HasSubstr("more than the announced 5"));
}

TEST_F(DatasetFiles, RejectsDifferentCounts) {
  write("train-labels-idx1-ubyte.gz", idx_bytes({19}));
  EXPECT_THAT(error(), HasSubstr("19 labels for 20 images"));
}

TEST_F(DatasetFiles, RejectsALabelOutOfRange) {
  write("train-labels-idx1-ubyte.gz", idx_bytes({20}, 11));
  EXPECT_THAT(error(), HasSubstr("label 10 at sample 10"));
}

TEST_F(DatasetFiles, RejectsTrainAndTestImagesOfDifferentSize) {
  write("t10k-images-idx3-ubyte", idx_bytes({5, 4, 4}, 256));
  EXPECT_THAT(error(), HasSubstr("differ in height or width"));
}

TEST_F(DatasetFiles, RejectsImagesLargerThanTheImageSize) {
  data_.image_size = 3;
  EXPECT_THAT(error(), HasSubstr("4 pixels large"));
}

TEST_F(DatasetFiles, UnknownNameGetsTheListAndTheNearest) {
  data_.name = "fashion-minst";
  const std::string text = error();
  EXPECT_THAT(text, HasSubstr("fashion-mnist, synthetic"));
  EXPECT_THAT(text, HasSubstr("did you mean \"fashion-mnist\""));
}

TEST(FashionMnist, RealFilesHaveSixtyThousandImages) {
  jobs::DataSection data;
  if (!std::filesystem::exists(
          std::filesystem::path(data.folder) / "train-images-idx3-ubyte.gz")) {
    GTEST_SKIP() << "no Fashion-MNIST in " << data.folder;
  }
  const DatasetPair pair = load_dataset(data);
  EXPECT_EQ(pair.train.count, 60000);
  EXPECT_EQ(pair.test.count, 10000);
  EXPECT_EQ(pair.train.height, 28);
  std::vector<int> per_class(10);
  double sum = 0;
  for (const auto label : pair.train.labels) {
    ++per_class[label];
  }
  for (const auto pixel : pair.train.pixels) {
    sum += pixel;
  }
  EXPECT_EQ(per_class, std::vector<int>(10, 6000));
  // The mean that make_batch subtracts.
  const double mean = sum / static_cast<double>(pair.train.pixels.size());
  EXPECT_NEAR(mean / 255, 0.2860, 0.0001);
}

TEST(Synthetic, IsTheSameEveryTimeAndHoldsAllClasses) {
  jobs::DataSection data;
  data.name = "synthetic";
  data.train_samples = 300;
  const DatasetPair first = load_dataset(data);
  const DatasetPair second = load_dataset(data);
  EXPECT_EQ(first.train.count, 300);
  EXPECT_EQ(first.test.count, 2000);
  EXPECT_EQ(first.train.pixels, second.train.pixels);
  EXPECT_EQ(first.train.labels, second.train.labels);
  std::vector<int> per_class(10);
  for (const auto label : first.train.labels) {
    ++per_class.at(label);
  }
  EXPECT_THAT(per_class, ::testing::Each(::testing::Gt(10)));
  // A longer set begins with the shorter one.
  data.train_samples = 301;
  const DatasetPair longer = load_dataset(data);
  EXPECT_TRUE(std::equal(
      first.train.pixels.begin(),
      first.train.pixels.end(),
      longer.train.pixels.begin()));
  data.train_samples = -1;
  EXPECT_THROW(load_dataset(data), Error);
}

ImageDataset two_images() {
  ImageDataset dataset;
  dataset.count = 2;
  dataset.height = 2;
  dataset.width = 2;
  dataset.classes = 10;
  dataset.pixels = {0, 255, 10, 20, 30, 40, 50, 60};
  dataset.labels = {3, 7};
  return dataset;
}

TEST(MakeBatch, NormalisesPadsAndCentres) {
  const std::vector<std::int64_t> indices{1, 0};
  const Batch batch = make_batch(two_images(), indices, 5);
  EXPECT_EQ(batch.images.sizes(), (std::vector<std::int64_t>{2, 1, 5, 5}));
  const float* pixels = batch.images.const_data_ptr<float>();
  const auto normal = [](int pixel) {
    return (static_cast<float>(pixel) / 255.0f - 0.2860f) / 0.3530f;
  };
  // Rows and columns 1 and 2 hold the image, all else is padding.
  EXPECT_EQ(pixels[6], normal(30));
  EXPECT_EQ(pixels[7], normal(40));
  EXPECT_EQ(pixels[11], normal(50));
  EXPECT_EQ(pixels[25 + 7], normal(255));
  for (const int padding : {0, 5, 8, 16, 24, 25}) {
    EXPECT_EQ(pixels[padding], 0.0f) << padding;
  }
  const std::int64_t* labels = batch.labels.const_data_ptr<std::int64_t>();
  EXPECT_EQ(labels[0], 7);
  EXPECT_EQ(labels[1], 3);
}

TEST(MakeBatch, OfNoSamplesIsEmpty) {
  const Batch batch = make_batch(two_images(), {}, 2);
  EXPECT_EQ(batch.images.sizes(), (std::vector<std::int64_t>{0, 1, 2, 2}));
  EXPECT_EQ(batch.labels.sizes(), (std::vector<std::int64_t>{0}));
}

TEST(MakeBatch, RejectsWrongIndicesAndSizes) {
  const std::vector<std::int64_t> beyond{2};
  const std::vector<std::int64_t> fine{0};
  EXPECT_THROW(make_batch(two_images(), beyond, 2), Error);
  EXPECT_THROW(make_batch(two_images(), fine, 1), Error);
}

} // namespace
} // namespace egpurun::runtime
